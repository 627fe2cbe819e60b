import type { ApiError, ToolGrant } from "../api/generated";
import type { Api } from "./api";
import { StoredState } from "./storedState.svelte";

/** The user's decisions about tools. */
export class ToolGrants extends StoredState<ToolGrant[]> {
	constructor(
		private readonly api: Api,
		failed: (error: ApiError) => void,
	) {
		super(() => api.toolGrants(), failed);
	}

	/** Deletes a decision, so that the user is asked again. */
	forget = ({ source, tool, chat }: ToolGrant): Promise<unknown> =>
		this.send(async () => {
			await this.api.forgetToolGrant(source, tool, chat);
			return this.api.toolGrants();
		});
}
