import type { ApiError } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The line before each licence text, as `cargo xtask bundle` writes it. */
const RULE = /^={100}$/m;

/** The licences of software, models and data of others in this build, and a search in them. */
export class LicenceList {
	/** The licence texts while the dialog is open; empty if this build has no list. */
	texts = $state.raw<readonly string[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	readonly found = $derived(matching(this.texts ?? [], this.query));

	constructor(private readonly api: Api) {}

	open = (): Promise<boolean> =>
		attempt(this, async () => {
			const list = await this.api.thirdPartyLicences();
			this.query = "";
			this.texts = list === null ? [] : textsOf(list);
		});

	close = (): void => void (this.texts = null);
}

/** The distinct texts after the introduction; a list of another form is one text. */
function textsOf(list: string): string[] {
	const [introduction = "", ...texts] = list.split(RULE).map((text) => text.trim());
	return [...new Set(texts.length > 0 ? texts : [introduction])];
}

/** The texts that contain every word of the query. */
function matching(texts: readonly string[], query: string): string[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	return texts.filter((text) => {
		const lower = text.toLowerCase();
		return words.every((word) => lower.includes(word));
	});
}
