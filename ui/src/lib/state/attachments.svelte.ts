import { asApiError } from "../api/errors";
import type { ApiError, Picture } from "../api/generated";
import type { Api } from "./api";
import { base64 } from "./base64";

/** File types in the file dialog. */
export const PICTURES = "image/png,image/jpeg,image/webp";

/** Pictures attached to the next message. Each is uploaded at once, so that sending does not have to wait. */
export class Attachments {
	all = $state.raw<Picture[]>([]);
	/** Number of files that are still uploading. */
	uploading = $state(0);

	constructor(
		private readonly api: Api,
		private readonly failed: (error: ApiError) => void,
	) {}

	/** Uploads the files one after the other. A rejected file does not stop the others. */
	async add(files: File[], named = true): Promise<void> {
		this.uploading += files.length;
		for (const file of files) {
			try {
				const picture = await this.api.addPicture(named ? file.name : "", await base64(file));
				this.all = [...this.all, picture];
			} catch (thrown) {
				this.failed(asApiError(thrown));
			}
			this.uploading -= 1;
		}
	}

	remove(index: number): void {
		this.all = this.all.toSpliced(index, 1);
	}

	/** Removes the pictures that were sent. Pictures added meanwhile stay. */
	sent(pictures: Picture[]): void {
		this.all = this.all.slice(pictures.length);
	}
}

/** The pictures in a paste. A paste with text has none, because its picture only renders that text. */
export function pasted(data: DataTransfer | null): File[] {
	if (!data || data.types.includes("text/plain")) return [];
	return [...data.files].filter((file) => file.type.startsWith("image/"));
}
