import type { Picture } from "../../lib/api/generated";
import { t } from "../../lib/i18n/i18n.svelte";

/** The text alternative of a picture. */
export const pictureName = ({ name }: Picture, index: number): string => name || t("chat.pictureUnnamed", { at: index + 1 });
