import type { ApiError, CardAsset } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { base64 } from "./base64";

/** The files that belong to a card. What is changed here is kept at once; the fields of the card wait for their own save. */
export class CardFiles {
	all = $state.raw<CardAsset[]>([]);
	loaded = $state(false);
	/** Files on their way in. */
	coming = $state(0);
	failure = $state.raw<ApiError | null>(null);

	constructor(
		private readonly api: Api,
		private readonly character: string,
	) {}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			this.#show(await this.api.cardAssets(this.character));
		});

	/** The hash of a picture of it; nothing where there is none to be seen. */
	picture = async (file: CardAsset): Promise<string | null> => (file.shows ? this.api.showCardAsset(this.character, file.id) : null);

	/** One after the other, for each is put to the end; one that is refused keeps none of the others out. */
	async add(files: Iterable<File>, kind: string): Promise<void> {
		const all = [...files];
		this.coming += all.length;
		this.failure = null;
		let refused: ApiError | null = null;
		for (const file of all) {
			const done = await attempt(this, async () => this.#show(await this.api.addCardAsset(this.character, kind, file.name, await base64(file))));
			if (!done) refused = this.failure;
			this.coming -= 1;
		}
		this.failure = refused;
	}

	change = (file: CardAsset, kind: string, name: string): Promise<boolean> =>
		attempt(this, async () => this.#show(await this.api.updateCardAsset(this.character, file.id, kind, name)));

	/** Answers with what brings it back; `null` if it was not done. */
	async remove(file: CardAsset): Promise<(() => Promise<void>) | null> {
		let removed = "";
		const done = await attempt(this, async () => {
			removed = await this.api.removeCardAsset(this.character, file.id);
			this.#show(await this.api.cardAssets(this.character));
		});
		return done ? async () => this.#show(await this.api.restoreCardAsset(this.character, removed)) : null;
	}

	#show(all: CardAsset[]): void {
		this.all = all;
		this.loaded = true;
	}
}
