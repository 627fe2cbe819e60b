import type { Picture } from "../../lib/api/generated";
import { t } from "../../lib/i18n/i18n.svelte";

/** What stands for a picture where it is not seen. */
export const pictureName = ({ name }: Picture, index: number): string => name || t("chat.pictureUnnamed", { at: index + 1 });
