/** A node as the layout sees it: the index of its parent, which precedes it in the list. */
export interface TreeItem {
	parent: number | null;
}

/** The place of a node: columns to the right of the start, rows below the first one. */
export interface Place {
	column: number;
	row: number;
}

export interface TreeLayout {
	places: Place[];
	/** Children of each node, in order. */
	children: number[][];
	columns: number;
	rows: number;
}

/** Lays out a tree from left to right. Each leaf has a row of its own, and a node is between its first and last child. */
export function layoutTree(items: readonly TreeItem[]): TreeLayout {
	const children: number[][] = items.map(() => []);
	const places: Place[] = [];
	items.forEach(({ parent }, index) => {
		if (parent !== null) children[parent]?.push(index);
		places.push({ column: parent === null ? 0 : (places[parent]?.column ?? 0) + 1, row: 0 });
	});
	let rows = 0;
	// Leaves in depth-first order, which is the order of the list.
	items.forEach((_, index) => {
		const place = places[index];
		if (place && children[index]?.length === 0) place.row = rows++;
	});
	for (let index = items.length - 1; index >= 0; index--) {
		const [place, own] = [places[index], children[index] ?? []];
		if (!place || own.length === 0) continue;
		const first = places[own[0] ?? index]?.row ?? 0;
		const last = places[own.at(-1) ?? index]?.row ?? 0;
		place.row = (first + last) / 2;
	}
	const columns = places.reduce((most, { column }) => Math.max(most, column + 1), 0);
	return { places, children, columns, rows };
}

/** The node that an arrow key, Home or End selects from `at`; `at` if there is none. */
export function nextNode(items: readonly TreeItem[], { children, places }: TreeLayout, at: number, key: string): number {
	const { column = 0, row = 0 } = places[at] ?? {};
	if (key === "Home") return 0;
	if (key === "End") return items.length - 1;
	if (key === "ArrowLeft") return items[at]?.parent ?? at;
	if (key === "ArrowRight") return children[at]?.[0] ?? at;
	if (key !== "ArrowUp" && key !== "ArrowDown") return at;
	const down = key === "ArrowDown";
	let best = at;
	let nearest = Infinity;
	places.forEach((place, index) => {
		const distance = down ? place.row - row : row - place.row;
		if (place.column === column && distance > 0 && distance < nearest) [best, nearest] = [index, distance];
	});
	return best;
}
