import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, SettingOwner, TemplateSummary } from "../../api/generated";
import type { Api } from "../api";

/** The template for the setting `auto`. */
const DEFAULT = "base-roleplay";

/** All prompt templates, built-in and the user's. */
export class Templates {
	all = $state.raw<TemplateSummary[]>([]);
	failure = $state.raw<ApiError | null>(null);
	loaded = $state(false);
	/** Templates for chats. The others are for background jobs such as summaries. */
	readonly forChats = $derived(this.all.filter(({ kind }) => kind === "roleplay"));
	readonly utility = $derived(this.all.filter(({ kind }) => kind === "utility"));

	constructor(private readonly api: Api) {}

	/** Id of the template that a chat uses; without a chat, the global one. */
	async usedBy(chat: ChatId | null): Promise<string | undefined> {
		const owner: SettingOwner = chat === null ? { scope: "global" } : { scope: "chat", id: chat };
		const all = await this.api.layeredSettings(owner).catch(() => null);
		const used = all?.settings.find(({ key }) => key === "template")?.value;
		return (this.forChats.find(({ id }) => id === used) ?? this.forChats.find(({ id }) => id === DEFAULT) ?? this.forChats[0])?.id;
	}

	load = async (): Promise<void> => {
		try {
			[this.all, this.failure] = [await this.api.listTemplates(), null];
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.loaded = true;
	};
}
