// Talking to the server: requests, and what they may fail with.

import { state } from "./page.js?v={{assets}}";

export class Problem extends Error {
  constructor(status, { detail, code, current } = {}) {
    super(detail);
    Object.assign(this, { status, code, current });
  }
  // Nothing is known to be wrong with the request itself: it may be sent again.
  get temporary() { return this.status === 0 || this.status === 429 || this.status >= 500; }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The gateway cannot be reached." });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Problem(response.status, { ...problem, detail: problem.detail || `The gateway answered ${response.status}.` });
}

// call repeats a request once when the sign-in was lost: on the gateway's own
// machine, asking for the page is signing in.
export async function call(path, options) {
  try {
    return await request(path, options);
  } catch (error) {
    if (error.status !== 401) throw error;
    await signInAgain();
    return request(path, options);
  }
}

async function signInAgain() {
  const page = await fetch("/", { credentials: "same-origin", cache: "no-store" }).catch(() => null);
  if (!page) throw new Problem(0, { detail: "The gateway cannot be reached." });
  if (page.ok) return;
  location.assign("/login");
  await new Promise(() => {}); // the page is being left
}

export const at = (path, session = state.session) => `/v1/sessions/${encodeURIComponent(session)}/${path}`;
export const json = async (path, options) => (await call(path, options)).json();
