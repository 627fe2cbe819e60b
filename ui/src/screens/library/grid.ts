const CARD = 192;
const SMALL_CARD = 140;
const GAP = 20;
const NARROW = 700;

/** Number of cards per row in `width` pixels; at least two, for phones. */
export function columnsIn(width: number): number {
	const card = width < NARROW ? SMALL_CARD : CARD;
	return Math.max(2, Math.floor((width + GAP) / (card + GAP)));
}

export function rowsOf<T>(all: readonly T[], columns: number): T[][] {
	const count = Math.ceil(all.length / columns);
	return Array.from({ length: count }, (_, row) => all.slice(row * columns, (row + 1) * columns));
}
