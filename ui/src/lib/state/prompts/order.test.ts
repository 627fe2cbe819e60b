import { describe, expect, it } from "vitest";
import { moved, names } from "./order";

describe("order", () => {
	it("reads names separated by commas", () => {
		expect(names("penalties, dry,top_k, ")).toEqual(["penalties", "dry", "top_k"]);
		expect(names("")).toEqual([]);
	});

	it("moves a name and keeps the others in order", () => {
		const order = ["a", "b", "c"];
		expect(moved(order, "a", 2)).toEqual(["b", "c", "a"]);
		expect(moved(order, "c", 0)).toEqual(["c", "a", "b"]);
		expect(moved(order, "b", -5)).toEqual(["b", "a", "c"]);
		expect(moved(order, "b", 9)).toEqual(["a", "c", "b"]);
	});
});
