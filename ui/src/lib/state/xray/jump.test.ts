import { expect, test } from "vitest";
import { placeOf } from "./jump";

test("a block of a card leads to its field", () => {
	expect(placeOf({ of: "card", character: "c1", field: "mes_example" })).toEqual({ to: "card", field: "messageExamples" });
});

test("words that were not sent yet are nowhere to go to", () => {
	expect(placeOf({ of: "message", id: "m1" })).toEqual({ to: "message", id: "m1" });
	expect(placeOf({ of: "message", id: "00000000-0000-0000-0000-000000000000" })).toBeNull();
});

test("a summary leads to the first message it tells of, while that is known", () => {
	expect(placeOf({ of: "keyframe", id: "k1", first: "m1" })).toEqual({ to: "message", id: "m1" });
	expect(placeOf({ of: "keyframe", id: "k1", first: null })).toBeNull();
});
