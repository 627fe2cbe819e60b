import { useApp } from "../state/context";

/** The URL of a stored picture; `null` until it is known, and if there is no picture. Call it during component initialisation. */
export function assetUrl(hash: () => string | null, small: () => boolean = () => false): { readonly current: string | null } {
	const app = useApp();
	let url = $state.raw<string | null>(null);
	$effect(() => {
		url = null;
		const wanted = hash();
		if (!wanted) return;
		let current = true;
		app.api.shell.assetUrl(wanted, small()).then(
			(found) => current && (url = found),
			() => {},
		);
		return () => (current = false);
	});
	return {
		get current() {
			return url;
		},
	};
}
