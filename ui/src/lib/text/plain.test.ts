import { expect, test } from "vitest";
import { plainLine } from "./plain";

test("line in a list shows text without marks", () => {
	expect(plainLine("*The door bangs shut.*\n\n“**Sit**,” she says.")).toBe("The door bangs shut. “Sit,” she says.");
	expect(plainLine("# A title\n- one\n> two")).toBe("A title one two");
	expect(plainLine("snake_case - and 2 > 1")).toBe("snake_case - and 2 > 1");
});
