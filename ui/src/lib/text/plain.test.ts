import { expect, test } from "vitest";
import { plainLine } from "./plain";

test("line in a list shows text without marks", () => {
	expect(plainLine("*The door bangs shut.*\n\n“**Sit**,” she says.")).toBe("The door bangs shut. “Sit,” she says.");
	expect(plainLine("# A title\n- one\n> two")).toBe("A title one two");
	expect(plainLine("snake_case - and 2 > 1")).toBe("snake_case - and 2 > 1");

	// A family of four is one picture of many code points, so a line may end inside it but never inside a code point.
	for (const long of ["word ".repeat(100), "道".repeat(300), "👨‍👩‍👧‍👦".repeat(60)]) {
		const line = plainLine(long);
		expect([...line].length).toBeLessThanOrEqual(121);
		expect(line.endsWith("…")).toBe(true);
		expect(line.isWellFormed()).toBe(true);
	}
});
