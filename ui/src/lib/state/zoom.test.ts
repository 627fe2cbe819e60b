import { beforeEach, expect, test } from "vitest";
import { Zoom, zoomed } from "./zoom";

beforeEach(() => localStorage.clear());

const key = (name: string, ctrlKey = true) => new KeyboardEvent("keydown", { key: name, ctrlKey });

test("plus and minus zoom in steps, and 0 resets", () => {
	expect([zoomed(1, "+"), zoomed(1, "="), zoomed(1, "-"), zoomed(1.5, "0"), zoomed(1, "a")]).toEqual([1.1, 1.1, 0.9, 1, null]);
	expect([zoomed(2.5, "+"), zoomed(0.5, "-")]).toEqual([2.5, 0.5]);
});

test("zoom is stored for the next start", () => {
	const factors: number[] = [];
	const zoom = new Zoom(async (factor) => factors.push(factor));
	expect([zoom.key(key("+")), zoom.key(key("+")), zoom.key(key("+", false)), zoom.key(key("x"))]).toEqual([true, true, false, false]);
	new Zoom(async (factor) => factors.push(factor));
	expect(factors).toEqual([1.1, 1.25, 1.25]);
});

test("invalid stored zoom is ignored", () => {
	localStorage.setItem("inglenook.zoom", "1e9");
	const factors: number[] = [];
	new Zoom(async (factor) => factors.push(factor));
	expect(factors).toEqual([]);
});
