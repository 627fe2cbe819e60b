import { expect, test } from "vitest";
import { AA, contrast, contrastOf, covering, luminance, parseColor, type Rgb } from "./contrast";

const THEMES = {
	light: { surface: "#f7f3ec", texts: ["#241e19", "#5f554b", "#b4501c", "#8a4a12"] },
	dark: { surface: "#171412", texts: ["#efe7db", "#b9ad9e", "#e5824a", "#f2c48d"] },
	contrast: { surface: "#000000", texts: ["#ffffff", "#e6e6e6", "#ffb27d"] },
};
const rgb = (text: string): Rgb => parseColor(text) ?? [0, 0, 0];
const mix = (pixel: Rgb, surface: Rgb, opacity: number) => pixel.map((value, at) => value * (1 - opacity) + (surface[at] ?? 0) * opacity) as unknown as Rgb;

test("colours are read, and everything else is refused", () => {
	expect([parseColor("#fff"), parseColor("rgb(1, 2, 3)"), parseColor("rgb(1 2 3 / 0.5)")]).toEqual([[255, 255, 255], [1, 2, 3], [1, 2, 3]]);
	for (const text of ["red", "url(x)", "#12", "rgb(a)", "var(--x)", ""]) expect(parseColor(text)).toBeNull();
});

test("black on white has the highest contrast", () => {
	expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21);
});

for (const [name, theme] of Object.entries(THEMES)) {
	const [surface, texts] = [rgb(theme.surface), theme.texts.map(rgb)];
	const pictures: Record<string, Rgb[]> = {
		white: [[255, 255, 255]],
		black: [[0, 0, 0]],
		noise: Array.from({ length: 500 }, (_, at) => [(at * 73) % 256, (at * 151) % 256, (at * 199) % 256]),
		primaries: [[255, 0, 0], [0, 255, 0], [0, 0, 255]],
	};
	for (const [picture, pixels] of Object.entries(pictures)) {
		test(`text on a ${picture} picture keeps AA contrast (${name})`, () => {
			const greys = pixels.flat().map((value) => luminance([value, value, value]));
			const opacity = covering(Math.min(...greys), Math.max(...greys), surface, texts);
			for (const pixel of pixels) {
				const behind = luminance(mix(pixel, surface, opacity));
				for (const text of texts) expect(contrastOf(luminance(text), behind)).toBeGreaterThanOrEqual(AA);
			}
		});
	}

	test(`a picture like the surface needs the least covering (${name})`, () => {
		const light = luminance(surface);
		expect(covering(light, light, surface, texts)).toBeLessThan(covering(0, 1, surface, texts));
	});
}
