import { expect, test } from "vitest";
import { layoutTree, nextNode, type TreeItem } from "./layout";

const items = (...parents: (number | null)[]): TreeItem[] => parents.map((parent) => ({ parent }));

test("node is between its first and last child", () => {
	const { places, rows, columns } = layoutTree(items(null, 0, 1, 1, 0));
	expect(places.map(({ row }) => row)).toEqual([1.25, 0.5, 0, 1, 2]);
	expect([rows, columns]).toEqual([3, 3]);
});

test("arrow keys follow the tree", () => {
	const tree = items(null, 0, 1, 1, 0);
	const layout = layoutTree(tree);
	const press = (at: number, key: string) => nextNode(tree, layout, at, key);
	expect([press(0, "ArrowRight"), press(3, "ArrowLeft"), press(2, "ArrowDown"), press(4, "ArrowUp")]).toEqual([1, 1, 3, 1]);
	expect([press(3, "Home"), press(0, "End"), press(4, "ArrowDown"), press(2, "ArrowRight")]).toEqual([0, 4, 4, 2]);
});

test("no nodes need no room", () => {
	expect(layoutTree([])).toEqual({ places: [], children: [], columns: 0, rows: 0 });
});

test("500 branches are laid out within a frame", () => {
	const tree = items(null, ...Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? Math.floor(index / 3) : index)));
	const times = Array.from({ length: 5 }, () => {
		const started = performance.now();
		layoutTree(tree);
		return performance.now() - started;
	});
	expect(Math.min(...times)).toBeLessThan(16);
});
