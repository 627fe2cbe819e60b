import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";

/** Runs `action` and returns whether it succeeded. On failure, `holder.failure` has the error until the next attempt. */
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
