/** How much more this origin may store, as the browser estimates it; `undefined` when it does not say. */
export async function originFreeBytes(): Promise<number | undefined> {
  const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
  return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
}
