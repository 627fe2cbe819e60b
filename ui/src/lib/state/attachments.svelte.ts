import { asApiError } from "../api/errors";
import type { ApiError, DraftPlace, Picture } from "../api/generated";
import type { Api } from "./api";
import type { Transport } from "../api/transport";
import { base64, bytesOf } from "./base64";
import { keptForm, type KeptForm } from "./keptForm.svelte";

/** File types in the file dialog. */
export const PICTURES = "image/png,image/jpeg,image/webp";

/** Pictures attached to the next message. Each is uploaded at once, so that sending does not have to wait. */
export class Attachments {
	all = $state.raw<Picture[]>([]);
	/** Number of files that are still uploading. */
	uploading = $state(0);

	readonly #kept: KeptForm;

	constructor(
		private readonly api: Api,
		private readonly failed: (error: ApiError) => void,
		place: DraftPlace,
	) {
		this.#kept = keptForm(api, place, (draft) => (this.all = JSON.parse(draft) as Picture[]), failed);
	}

	/** Shows the pictures that were attached when the chat was left. */
	async restore(): Promise<void> {
		await this.#kept.restore("[]");
		// Pictures are small to look at and easy to remove, so they need no notice.
		this.#kept.dismiss();
	}

	/** Uploads the files one after the other. A rejected file does not stop the others. */
	async add(files: File[], named = true): Promise<void> {
		this.uploading += files.length;
		for (const file of files) {
			try {
				const picture = await this.api.addPicture(named ? file.name : "", await base64(file));
				this.#set([...this.all, picture]);
			} catch (thrown) {
				this.failed(asApiError(thrown));
			}
			this.uploading -= 1;
		}
	}

	remove(index: number): void {
		this.#set(this.all.toSpliced(index, 1));
	}

	/** Removes the pictures that were sent. Pictures added meanwhile stay. */
	sent(pictures: Picture[]): void {
		this.#set(this.all.slice(pictures.length));
	}

	#set(pictures: Picture[]): void {
		this.all = pictures;
		this.#kept.typed(JSON.stringify(pictures));
		void this.#kept.now();
	}
}

/** The pictures in a paste. A paste with text has none, because its picture only renders that text. */
export function pasted(data: DataTransfer | null): File[] {
	if (!data || data.types.includes("text/plain")) return [];
	return [...data.files].filter((file) => file.type.startsWith("image/"));
}

/**
 * The pictures of a paste, also where the web view leaves them out of its event. `null` if the paste is not about pictures;
 * an empty list if it should have one that cannot be read.
 */
export function pastedPictures({ clipboardData: data }: ClipboardEvent, shell: Transport): Promise<File[]> | null {
	const files = pasted(data);
	if (files.length > 0) return Promise.resolve(files);
	if (!shell.desktop || !data || data.types.includes("text/plain") || data.files.length > 0) return null;
	return shell.clipboardPicture().then((png) => (png === null ? [] : [new File([bytesOf(png)], "clipboard.png", { type: "image/png" })]));
}
