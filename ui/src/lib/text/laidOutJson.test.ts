import { describe, expect, it } from "vitest";
import { laidOutJson } from "./laidOutJson";

describe("laidOutJson", () => {
	it("keeps numbers, repeated keys and the order", () => {
		const json = '{"id":9007199254740993,"rate":1e400,"path":"a","path":"b","list":[1,{}],"none":[]}';
		const shown = laidOutJson(json);
		expect(shown).toContain('"id": 9007199254740993');
		expect(shown).toContain('"rate": 1e400');
		expect(shown.match(/"path"/g)).toHaveLength(2);
		expect(shown).toContain('"none": []');
		expect(shown.replace(/\s/g, "")).toBe(json);
	});

	it("shows invisible letters", () => {
		expect(laidOutJson('{"a":"x\u202ey\u{e0100}z\u200b"}')).toBe('{\n  "a": "x\\u{202e}y\\u{e0100}z\\u{200b}"\n}');
	});

	it("keeps signs inside texts", () => {
		expect(laidOutJson('{"a":"{,:\\\\\\"]"}')).toBe('{\n  "a": "{,:\\\\\\"]"\n}');
	});

	it("keeps the letters of other texts", () => {
		for (const text of ["", "no json", '{"open', "]]}", '{"a":}']) expect(laidOutJson(text).replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
	});
});
