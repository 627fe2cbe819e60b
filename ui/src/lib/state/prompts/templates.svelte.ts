import { asApiError } from "../../api/errors";
import type { ApiError, TemplateSummary } from "../../api/generated";
import type { Api } from "../api";

/** The prompt templates there are: built in, and the user's. */
export class Templates {
	all = $state.raw<TemplateSummary[]>([]);
	failure = $state.raw<ApiError | null>(null);
	loaded = $state(false);
	/** Those a chat can use; the others are for summaries and the like. */
	readonly forChats = $derived(this.all.filter(({ kind }) => kind === "roleplay"));
	readonly utility = $derived(this.all.filter(({ kind }) => kind === "utility"));

	constructor(private readonly api: Api) {}

	load = async (): Promise<void> => {
		try {
			[this.all, this.failure] = [await this.api.listTemplates(), null];
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.loaded = true;
	};
}
