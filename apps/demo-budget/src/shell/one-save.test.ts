import { describe, expect, it } from 'vitest';
import { oneSave } from './one-save.ts';

interface Running {
  /** The values are stored. */
  store(): void;
  /** The notice is shown, or the save has failed. */
  end(): void;
}

function form(): { readonly running: Running[]; save(): void } {
  const running: Running[] = [];
  const save = oneSave(
    (_work, _words, leave) =>
      new Promise<void>((resolve) => running.push({ store: () => leave(undefined as never), end: resolve })),
    { current: false },
  );
  return {
    running,
    save: () =>
      save(
        () => Promise.resolve(),
        '',
        () => undefined,
      ),
  };
}

/** Resolves once the listeners of settled promises have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the saves of a form', () => {
  it('are ignored until the values of the last one are stored', () => {
    const { running, save } = form();
    save();
    save();
    expect(running).toHaveLength(1);
    running[0]?.store();
    save();
    expect(running).toHaveLength(2);
  });

  it('are possible again after a failure', async () => {
    const { running, save } = form();
    save();
    running[0]?.end();
    await settled();
    save();
    expect(running).toHaveLength(2);
  });

  it('are not released by the end of an earlier one', async () => {
    const { running, save } = form();
    save();
    running[0]?.store();
    save();
    running[0]?.end();
    await settled();
    save();
    expect(running).toHaveLength(2);
  });
});
