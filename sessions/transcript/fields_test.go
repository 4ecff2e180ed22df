package transcript

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What is split is what the JSON package reads.
func FuzzFieldsOf(f *testing.F) {
	for _, text := range []string{`{}`, ` { "a" : 1 , "b\n":"x\"}", "c":[1,{"d":"]"}],"":null,"t":true }`, `{"a":1,"a":2}`, `[]`, `{"a":1}{}`, `{"a"`, `"x"`, `{"\ud800":-1.5e3}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, err := fieldsOf([]byte(text), 1000)
		var want map[string]json.RawMessage
		wrong := json.Unmarshal([]byte(text), &want)
		if err != nil {
			return
		}
		if wrong != nil || len(want) != len(fields) {
			t.Fatalf("%q: %v, %v", text, fields, wrong)
		}
		for _, field := range fields {
			var is, was any
			if json.Unmarshal(field.value, &is) != nil || json.Unmarshal(want[field.name], &was) != nil || !reflect.DeepEqual(is, was) {
				t.Errorf("%q: %s is %s and not %s", text, field.name, field.value, want[field.name])
			}
		}
		if again, err := fieldsOf(objectOf(fields), 1000); err != nil || len(again) != len(fields) {
			t.Errorf("%q: %v", objectOf(fields), err)
		}
	})
}

func TestFieldsOfRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": errFields.Error(), "[]": errFields.Error(), "{": errFields.Error(), "{} {}": errBehind.Error(), `{"a":1,"a":2}`: `the name "a" is there twice`, `{"a":1,"b":2,"c":3}`: "it has more than 2 names"} {
		if _, err := fieldsOf([]byte(text), 2); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
