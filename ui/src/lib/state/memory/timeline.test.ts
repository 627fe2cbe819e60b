import { expect, test } from "vitest";
import type { Keyframe, Memory } from "../../api/generated";
import { isKeyframe, months } from "./timeline";

const memory = (id: string, created: string) => ({ id, created }) as Memory;
const keyframe = (id: string, said: string) => ({ id, said }) as Keyframe;

test("groups memories by month, the newest first", () => {
	const told = months([memory("spring", "2026-03-09T10:00:00"), memory("new", "2026-11-20T10:00:00"), memory("last year", "2025-11-20T10:00:00"), memory("early", "2026-11-02T10:00:00")]);
	expect(told.map(({ items }) => items.map(({ id }) => id).join())).toEqual(["new,early", "spring", "last year"]);
	expect(told[0]?.at).toBe("2026-11-20T10:00:00");
	expect(months([])).toEqual([]);
});

test("keyframes are sorted by their end", () => {
	const told = months([memory("new", "2026-11-20T10:00:00"), memory("spring", "2026-03-09T10:00:00"), keyframe("summer", "2026-07-01T10:00:00"), keyframe("between", "2026-11-19T10:00:00"), memory("early", "2026-11-02T10:00:00")]);
	expect(told.map(({ items }) => items.map(({ id }) => id).join())).toEqual(["new,between,early", "summer", "spring"]);
	expect(told[1]?.at).toBe("2026-07-01T10:00:00");
	expect(told.flatMap(({ items }) => items.filter(isKeyframe).map(({ id }) => id))).toEqual(["between", "summer"]);
});
