import { t } from "../i18n/i18n.svelte";
import type { ApiError } from "./generated";

const kinds = {
	contextOverflow: true,
	provider: true,
	noModel: true,
	badInput: true,
	notFound: true,
	promptNotKept: true,
	busy: true,
	storage: true,
	keychain: true,
	toolServer: true,
	internal: true,
} satisfies Record<ApiError["kind"], true>;

/** Converts any thrown value to an `ApiError`. */
export function asApiError(thrown: unknown): ApiError {
	if (typeof thrown === "object" && thrown !== null && "kind" in thrown && String(thrown.kind) in kinds) {
		return thrown as ApiError;
	}
	return { kind: "internal", message: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** A headline for the user; the details are in the error's own message. */
export function headline(error: ApiError): string {
	return error.kind === "provider" ? t(`provider.${error.class}`) : t(`error.${error.kind}`);
}

/** A remedy for the user; empty if the engine gives no hint. */
export function hint(error: ApiError): string {
	return "hint" in error ? error.hint : "";
}

/** Errors that can mean a prompt too long for its model, found by the engine or reported by an endpoint. */
export type TooLong = Extract<ApiError, { kind: "contextOverflow" | "provider" }>;

export function tooLong(error: ApiError | null): TooLong | null {
	if (error?.kind === "contextOverflow") return error;
	return error?.kind === "provider" && error.class === "contextOverflow" ? error : null;
}
