import type { Background, LayeredSettings } from "../api/generated";
import type { Api } from "./api";
import { covering, parseColor, type Rgb } from "./contrast";

export const SPRITE_PLACES = ["beside", "behind", "above", "off"] as const;
export type SpritePlace = (typeof SPRITE_PLACES)[number];

/** The tokens of texts that may be on a picture. */
const TEXTS = ["--text", "--quiet", "--ember", "--speech"] as const;

/** What a chat shows around its messages: a background, and pictures of the characters. */
export class Scenery {
	place = $state<SpritePlace>("beside");
	background = $state.raw<Background | null>(null);
	/** The accent colour of the chat; `null` is that of the window. */
	accent = $state.raw<Rgb | null>(null);
	#asked = "none";

	constructor(private readonly api: Api) {}

	/** Takes over the settings of the chat. A background that is no longer in the gallery shows none. */
	async use(settings: LayeredSettings | null): Promise<void> {
		const value = (name: string) => settings?.settings.find(({ key }) => key === name)?.value;
		this.place = SPRITE_PLACES.find((place) => place === value("sprite_place")) ?? "beside";
		this.accent = parseColor(String(value("accent_color") ?? ""));
		const wanted = String(value("background") ?? "none");
		this.#asked = wanted;
		const all = wanted === "none" ? [] : await this.api.listBackgrounds().catch(() => []);
		if (this.#asked === wanted) this.background = all.find(({ picture }) => picture === wanted) ?? null;
	}
}

/** The opacity of the sheet between a picture and the messages. Reads the colours of the theme in use. */
export function sheetOpacity(within: HTMLElement, darkest: number, lightest: number): number {
	const probe = document.createElement("span");
	within.append(probe);
	const read = (token: string): Rgb | null => {
		probe.style.color = `var(${token})`;
		return parseColor(getComputedStyle(probe).color);
	};
	const surface = read("--surface-0");
	const texts = TEXTS.map(read).filter((color) => color !== null);
	probe.remove();
	return surface ? covering(darkest, lightest, surface, texts) : 1;
}
