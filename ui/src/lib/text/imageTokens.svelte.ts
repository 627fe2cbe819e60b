import type { Picture } from "../api/generated";
import { useApp } from "../state/context";

const TOKEN = /\$\{image\.([^{}\n]{1,120})\}/g;
/** Maximum number of pictures in a message. */
const MAX = 8;

/** The names in image tokens such as `${image.harbour}`, without repetitions. */
export function imageNames(text: string): string[] {
	if (!text.includes("${image.")) return [];
	const names = [...text.matchAll(TOKEN)].map(([, name = ""]) => name.trim());
	return names.filter((name, at) => name !== "" && names.indexOf(name) === at).slice(0, MAX);
}

/** The text without the tokens of pictures that were found. The others stay ordinary text. */
export function withoutTokens(text: string, found: readonly string[]): string {
	return found.length === 0 ? text : text.replace(TOKEN, (token, name: string) => (found.includes(name.trim()) ? "" : token));
}

/** Pictures of the card that a text names. Call it during component initialisation. */
export function imageTokens(text: () => string, character: () => string): { readonly text: string; readonly pictures: Picture[] } {
	const app = useApp();
	let pictures = $state.raw<Picture[]>([]);
	const names = $derived(imageNames(text()).join("\n"));
	const of = $derived(character());
	$effect(() => {
		const asked = names === "" ? [] : names.split("\n");
		if (asked.length === 0) {
			if (pictures.length > 0) pictures = [];
			return;
		}
		let current = true;
		const load = async (name: string) => {
			const hash = await app.api.cardPicture(of, name).catch(() => null);
			return hash === null ? [] : [{ hash, name }];
		};
		void Promise.all(asked.map(load)).then((found) => current && (pictures = found.flat()));
		return () => (current = false);
	});
	return {
		get text() {
			return withoutTokens(text(), pictures.map(({ name }) => name));
		},
		get pictures() {
			return pictures;
		},
	};
}
