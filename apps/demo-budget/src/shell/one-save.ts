export type Words<T> = string | ((value: T) => string);

export type Save = <T>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void) => void;

type AwaitedSave = <T>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void) => Promise<void>;

/**
 * Runs one save of a form at a time, and ignores further ones. The next one may begin once the values are stored, right
 * before `leave`: a form that stays open may save again while the notice is prepared.
 */
export function oneSave(save: AwaitedSave, saving: { current: boolean }): Save {
  return (work, words, leave) => {
    if (saving.current) return;
    saving.current = true;
    // Once: the end of this save must not release the next one.
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) saving.current = false;
      isReleased = true;
    };
    const leaveSaved: typeof leave = (value) => {
      release();
      leave(value);
    };
    void save(work, words, leaveSaved).finally(release);
  };
}
