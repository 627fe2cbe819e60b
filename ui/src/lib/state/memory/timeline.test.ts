import { expect, test } from "vitest";
import type { Memory } from "../../api/generated";
import { months } from "./timeline";

const memory = (id: string, created: string) => ({ id, created }) as Memory;

test("memories are told month by month, the newest first", () => {
	const told = months([memory("spring", "2026-03-09T10:00:00"), memory("new", "2026-11-20T10:00:00"), memory("last year", "2025-11-20T10:00:00"), memory("early", "2026-11-02T10:00:00")]);
	expect(told.map(({ items }) => items.map(({ id }) => id).join())).toEqual(["new,early", "spring", "last year"]);
	expect(told[0]?.at).toBe("2026-11-20T10:00:00");
	expect(months([])).toEqual([]);
});
