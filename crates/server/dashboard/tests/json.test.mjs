// JSON as it was written, to the digit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { member, parse, pretty, raw } from "../app/lib/json.js";

test("numbers beyond those of JavaScript stay what they are", () => {
  for (const number of ["12345678901234567890", "-0", "1e400", "0.1000000000000000055511151231257827", "9007199254740993"]) {
    assert.equal(parse(number).text, number);
    assert.equal(pretty(`{"n":${number}}`), `{\n  "n": ${number}\n}`);
  }
});

test("members keep their order, and all of them", () => {
  const text = '{"2":1,"1":2,"2":3,"__proto__":{"x":1}}';
  const root = parse(text);
  assert.deepEqual(root.members.map(([name]) => name), ["2", "1", "2", "__proto__"]);
  assert.equal(raw(text, member(root, "2")), "3");
  assert.equal({}.x, undefined);
});

test("a part is found to the letter", () => {
  const text = ' { "a" : [ 1.50 , "\\u00e9\\n" ] , "b":{ } } ';
  assert.equal(raw(text, member(parse(text), "a")), '[ 1.50 , "\\u00e9\\n" ]');
  assert.equal(parse(text).members[0][1].items[1].text, "é\n");
});

test("what is read is what JSON.parse reads", () => {
  const value = (node) => node.members ? Object.fromEntries(node.members.map(([name, child]) => [name, value(child)])) : node.items ? node.items.map(value) : node.kind === "string" ? node.text : JSON.parse(node.text);
  for (const text of ['null', '[]', '{}', '[[],{}]', '"😀\\ud83d\\ude00"', '[true,false,null,-1.5e-3,"\\"\\\\\\/"]', '{"a":{"b":[1,{"c":2}]}}']) {
    assert.deepEqual(value(parse(text)), JSON.parse(text));
    assert.deepEqual(JSON.parse(pretty(text)), JSON.parse(text));
  }
});

test("what is no JSON is refused", () => {
  for (const text of ["", "{", "[1,]", '{"a"}', '{"a":1,}', "01", "+1", "NaN", "'a'", '"\n"', "1 2", "tru", '"\\x"', "{a:1}"]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("a long flat text is read without trouble", () => {
  const text = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n })));
  assert.equal(parse(text).items.length, 100_000);
});
