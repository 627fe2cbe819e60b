import type { Background, ChatBackground, ChatId, LayeredSettings } from "../api/generated";
import type { Api } from "./api";
import { covering, parseColor, type Rgb } from "./contrast";

export const SPRITE_PLACES = ["beside", "behind", "above", "off"] as const;
export type SpritePlace = (typeof SPRITE_PLACES)[number];

/** The tokens of texts that may be on a picture. */
const TEXTS = ["--text", "--quiet", "--ember", "--speech"] as const;

/** The surroundings of a chat's messages: a background, and pictures of the characters. */
export class Scenery {
	place = $state<SpritePlace>("beside");
	/** The background and what selects it. The engine decides. */
	shown = $state.raw<ChatBackground | null>(null);
	/** The accent colour of the chat; `null` is that of the window. */
	accent = $state.raw<Rgb | null>(null);
	#asked = 0;

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
	) {}

	get background(): Background | null {
		return this.shown?.background ?? null;
	}

	/** Takes over the settings of the chat. */
	async use(settings: LayeredSettings | null): Promise<void> {
		const value = (name: string) => settings?.settings.find(({ key }) => key === name)?.value;
		this.place = SPRITE_PLACES.find((place) => place === value("sprite_place")) ?? "beside";
		this.accent = parseColor(String(value("accent_color") ?? ""));
		await this.refresh();
	}

	/** Asks for the background again, because a changed message may have changed the scene of the chat. */
	async refresh(): Promise<void> {
		const asked = ++this.#asked;
		const shown = await this.api.chatBackground(this.chat).catch(() => null);
		// An equal answer does not load the picture again.
		if (asked === this.#asked && JSON.stringify(shown) !== JSON.stringify(this.shown)) this.shown = shown;
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
