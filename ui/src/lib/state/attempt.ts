import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";

/** Does it and tells whether it was done; why not stands in `holder` until the next attempt. */
export async function attempt(holder: { failure: ApiError | null }, action: () => Promise<void>): Promise<boolean> {
	holder.failure = null;
	try {
		await action();
		return true;
	} catch (thrown) {
		holder.failure = asApiError(thrown);
		return false;
	}
}
