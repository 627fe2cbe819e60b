import { t } from "../i18n/i18n.svelte";
import type { ApiError } from "./generated";

const kinds = {
	contextOverflow: true,
	provider: true,
	noModel: true,
	badInput: true,
	notFound: true,
	busy: true,
	storage: true,
	keychain: true,
	internal: true,
} satisfies Record<ApiError["kind"], true>;

/** Whatever was thrown, as an `ApiError`. */
export function asApiError(thrown: unknown): ApiError {
	if (typeof thrown === "object" && thrown !== null && "kind" in thrown && String(thrown.kind) in kinds) {
		return thrown as ApiError;
	}
	return { kind: "internal", message: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** A headline the reader understands; the error's own words say the rest. */
export function headline(error: ApiError): string {
	return error.kind === "provider" ? t(`provider.${error.class}`) : t(`error.${error.kind}`);
}

/** What to do about it, where the engine knows. */
export function hint(error: ApiError): string {
	return "hint" in error ? error.hint : "";
}

/** A prompt was longer than its model takes: we saw it, or the endpoint did. */
export type TooLong = Extract<ApiError, { kind: "contextOverflow" | "provider" }>;

export function tooLong(error: ApiError | null): TooLong | null {
	if (error?.kind === "contextOverflow") return error;
	return error?.kind === "provider" && error.class === "contextOverflow" ? error : null;
}
