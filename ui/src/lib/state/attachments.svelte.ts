import { asApiError } from "../api/errors";
import type { ApiError, Picture } from "../api/generated";
import type { Api } from "./api";
import { base64 } from "./base64";

/** What the file dialog offers. */
export const PICTURES = "image/png,image/jpeg,image/webp";

/** Pictures that go with the next message. The engine takes each in at once, so that sending need not wait. */
export class Attachments {
	all = $state.raw<Picture[]>([]);
	/** Files that are being taken in. */
	coming = $state(0);

	constructor(
		private readonly api: Api,
		private readonly failed: (error: ApiError) => void,
	) {}

	/** Takes in one after the other; a file that is refused keeps none of the others away. */
	async add(files: File[], named = true): Promise<void> {
		this.coming += files.length;
		for (const file of files) {
			try {
				const picture = await this.api.addPicture(named ? file.name : "", await base64(file));
				this.all = [...this.all, picture];
			} catch (thrown) {
				this.failed(asApiError(thrown));
			}
			this.coming -= 1;
		}
	}

	remove(index: number): void {
		this.all = this.all.toSpliced(index, 1);
	}

	/** They are with their message now; what was added meanwhile stays. */
	sent(pictures: Picture[]): void {
		this.all = this.all.slice(pictures.length);
	}
}

/** The pictures of a paste that holds no text: what comes with text is how a text program shows it. */
export function pasted(data: DataTransfer | null): File[] {
	if (!data || data.types.includes("text/plain")) return [];
	return [...data.files].filter((file) => file.type.startsWith("image/"));
}
