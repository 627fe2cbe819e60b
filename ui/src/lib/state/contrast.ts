/** Contrast of colours as WCAG 2 defines it, and the covering that a picture needs so that text on it stays readable. */

export type Rgb = readonly [number, number, number];

/** Smallest contrast of text (level AA). */
export const AA = 4.5;

/** Reads `#rgb`, `#rrggbb` or `rgb(…)`; `null` for anything else. */
export function parseColor(text: string): Rgb | null {
	const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1];
	if (hex) {
		const pairs = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
		return pairs.map((pair) => parseInt(pair, 16)) as unknown as Rgb;
	}
	const numbers = /^rgba?\(([^)]*)\)$/.exec(text.trim())?.[1]?.split(/[\s,/]+/).map(Number);
	return numbers && numbers.length >= 3 && numbers.slice(0, 3).every(Number.isFinite) ? [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0] : null;
}

/** Linear light of an sRGB value from 0 to 1. */
const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** The sRGB value, from 0 to 255, of a grey with this luminance. */
const grey = (light: number): number => 255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055);

/** Relative luminance, from 0 to 1. */
export function luminance([red, green, blue]: Rgb): number {
	const [r, g, b] = [red, green, blue].map((value) => linear(value / 255)) as [number, number, number];
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrastOf(one: number, other: number): number {
	const [lighter, darker] = one > other ? [one, other] : [other, one];
	return (lighter + 0.05) / (darker + 0.05);
}

export const contrast = (one: Rgb, other: Rgb): number => contrastOf(luminance(one), luminance(other));

/** Luminance of a grey of luminance `light` below a covering of `surface`. */
function covered(light: number, surface: Rgb, opacity: number): number {
	const below = grey(light);
	return luminance(surface.map((value) => value * opacity + below * (1 - opacity)) as unknown as Rgb);
}

/**
 * The smallest opacity, in steps of a hundredth from `least`, of a covering of `surface` over a picture, so that all texts have
 * AA contrast on each of its pixels; 1 if no other is enough. `darkest` and `lightest` are the luminances of greys that bound
 * every channel of every pixel. A mixture is monotonic in each channel, so that it stays between the mixtures of the greys.
 */
export function covering(darkest: number, lightest: number, surface: Rgb, texts: readonly Rgb[], least = 0.3): number {
	const lights = texts.map((text) => luminance(text));
	const readable = (opacity: number) => {
		const [floor, ceiling] = [covered(darkest, surface, opacity), covered(lightest, surface, opacity)];
		// A text between the two bounds would equal some pixel.
		return lights.every((light) => (light < floor ? contrastOf(light, floor) >= AA : light > ceiling && contrastOf(light, ceiling) >= AA));
	};
	for (let percent = Math.round(least * 100); percent < 100; percent++) if (readable(percent / 100)) return percent / 100;
	return 1;
}
