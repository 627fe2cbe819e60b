import type { ApiError, CardAsset, CharacterId } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { base64 } from "./base64";

/** The files of a card. Changes here are saved immediately, unlike the fields of the card. */
export class CardFiles {
	all = $state.raw<CardAsset[]>([]);
	loaded = $state(false);
	/** Number of files that are still uploading. */
	uploading = $state(0);
	failure = $state.raw<ApiError | null>(null);

	constructor(
		private readonly api: Api,
		private readonly character: CharacterId,
	) {}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			this.#show(await this.api.cardAssets(this.character));
		});

	/** The hash of a picture of the file; `null` if it has none that can be shown. */
	picture = async (file: CardAsset): Promise<string | null> => (file.shows ? this.api.showCardAsset(this.character, file.id) : null);

	/** Like `picture`, in a size for viewing. */
	large = async (file: CardAsset): Promise<string | null> => (file.shows ? this.api.cardAssetPicture(this.character, file.id) : null);

	/** Uploads the files one after the other, to keep their order. A rejected file does not stop the others. */
	async add(files: Iterable<File>, kind: string): Promise<void> {
		const all = [...files];
		this.uploading += all.length;
		this.failure = null;
		let refused: ApiError | null = null;
		for (const file of all) {
			const done = await attempt(this, async () => this.#show(await this.api.addCardAsset(this.character, kind, file.name, await base64(file))));
			if (!done) refused = this.failure;
			this.uploading -= 1;
		}
		this.failure = refused;
	}

	change = (file: CardAsset, kind: string, name: string): Promise<boolean> =>
		attempt(this, async () => this.#show(await this.api.updateCardAsset(this.character, file.id, kind, name)));

	/** Returns a function that restores the file; `null` if the removal failed. */
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
