import { expect, test } from "vitest";
import { visible } from "./visibleToken";

test("white space of a token is visible", () => {
	expect(visible(" the\n\tend")).toBe("␣the⏎⇥end");
	expect(visible("")).toBe("");
});
