import { AA, contrast, type Rgb } from "./contrast";

/** Text on a filled control. */
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** The colour nearest to `wanted`, between black and white, that has AA contrast on all surfaces, and the colour of text on it. */
export function readableOn(wanted: Rgb, surfaces: readonly Rgb[]): { color: Rgb; on: string } {
	const fits = (color: Rgb) => surfaces.every((surface) => contrast(color, surface) >= AA);
	const toward = (end: Rgb, part: number) => wanted.map((value, at) => Math.round(value + ((end[at] ?? 0) - value) * part)) as unknown as Rgb;
	let color = wanted;
	for (let percent = 0; percent <= 100; percent++) {
		const found = [toward(WHITE, percent / 100), toward(BLACK, percent / 100)].find(fits);
		if (found) {
			color = found;
			break;
		}
	}
	return { color, on: contrast(WHITE, color) >= contrast(BLACK, color) ? "#ffffff" : "#000000" };
}
