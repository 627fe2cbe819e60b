import { expect, test } from "vitest";
import { readableOn } from "./accent";
import { AA, contrast, type Rgb } from "./contrast";
import { DEFAULTS, MAX_THEME_FILE, readLook, readThemeFile, writeThemeFile } from "./lookFile";

test("theme file survives export and import", () => {
	const values = { ...DEFAULTS, theme: "contrast", accent: "#3366cc", size: 20, avatars: "tall" } as const;
	expect(readThemeFile(writeThemeFile(values))).toEqual(values);
});

test("theme file contains values only, never CSS", () => {
	const file = JSON.stringify({ kind: "inglenook-theme", accent: "red;} body{background:url(//evil)}", size: 900, face: "url(x)", theme: "dark", css: "*{}", __proto__: { width: "wide" } });
	expect(readThemeFile(file)).toEqual({ theme: "dark" });
	expect(readLook({ accent: "url(#a)" })).toEqual({});
	expect(readLook({ accent: null })).toEqual({ accent: null });
});

test("other files are no themes", () => {
	for (const text of ["", "null", "[]", "{}", "{", '{"kind":"x"}', `{"kind":"inglenook-theme","x":"${"a".repeat(MAX_THEME_FILE)}"}`]) expect(readThemeFile(text)).toBeNull();
});

test("any accent becomes readable on the surfaces", () => {
	const themes: Rgb[][] = [
		[[247, 243, 236], [255, 253, 249], [239, 232, 221]],
		[[23, 20, 18], [30, 26, 23], [40, 35, 31]],
		[[0, 0, 0], [11, 11, 11], [22, 22, 22]],
	];
	for (const surfaces of themes) {
		for (const wanted of [[255, 255, 0], [0, 0, 0], [255, 255, 255], [0, 0, 255], [128, 128, 128]] as Rgb[]) {
			const { color, on } = readableOn(wanted, surfaces);
			for (const surface of surfaces) expect(contrast(color, surface)).toBeGreaterThanOrEqual(AA);
			expect(contrast(color, on === "#ffffff" ? [255, 255, 255] : [0, 0, 0])).toBeGreaterThanOrEqual(AA);
		}
	}
	expect(readableOn([140, 60, 20], themes[0] ?? []).color).toEqual([140, 60, 20]);
});
