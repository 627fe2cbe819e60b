import { beforeEach, expect, test } from "vitest";
import { browserValues } from "./pageValues";
import { Zoom, zoomed } from "./zoom";

beforeEach(() => localStorage.clear());

test("zooms in steps, and resets", () => {
	expect([zoomed(1, "in"), zoomed(1, "out"), zoomed(1.5, "reset"), zoomed(2.5, "in"), zoomed(0.5, "out")]).toEqual([1.1, 0.9, 1, 2.5, 0.5]);
});

test("zoom is stored for the next start", () => {
	const factors: number[] = [];
	const zoom = new Zoom(browserValues, async (factor) => factors.push(factor));
	zoom.step("in");
	zoom.step("in");
	new Zoom(browserValues, async (factor) => factors.push(factor));
	expect(factors).toEqual([1.1, 1.25, 1.25]);
});

test("invalid stored zoom is ignored", () => {
	localStorage.setItem("inglenook.zoom", "1e9");
	const factors: number[] = [];
	new Zoom(browserValues, async (factor) => factors.push(factor));
	expect(factors).toEqual([]);
});
