import { useApp } from "../state/context";

/** The address of a stored picture, once it is known: `null` until then, and for none. Call it while a component is made. */
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
