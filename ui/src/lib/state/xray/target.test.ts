import { expect, test } from "vitest";
import { targetOf } from "./target";

test("block of a card leads to its field", () => {
	expect(targetOf({ of: "card", character: "c1", field: "mes_example" })).toEqual({ to: "card", field: "messageExamples" });
});

test("unsent message has no target", () => {
	expect(targetOf({ of: "message", id: "m1" })).toEqual({ to: "message", id: "m1" });
	expect(targetOf({ of: "message", id: "00000000-0000-0000-0000-000000000000" })).toBeNull();
});

test("summary leads to its first message", () => {
	expect(targetOf({ of: "keyframe", id: "k1", first: "m1" })).toEqual({ to: "message", id: "m1" });
	expect(targetOf({ of: "keyframe", id: "k1", first: null })).toBeNull();
});
