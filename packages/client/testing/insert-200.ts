/** Inserts 200 entries, ten at a time. After half of them, `halfway` runs while writing continues. */
export async function insert200(
  insert: (number: number) => Promise<unknown>,
  halfway: () => Promise<void> | void,
): Promise<void> {
  let happening: Promise<void> | void = undefined;
  for (let first = 0; first < 200; first += 10) {
    const writes = Array.from({ length: 10 }, (_, index) => insert(first + index));
    if (first === 100) happening = halfway();
    await Promise.all(writes);
  }
  await happening;
}
