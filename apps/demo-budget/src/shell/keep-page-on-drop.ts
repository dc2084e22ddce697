/**
 * A file that is dropped beside a field for files would replace the app by the file, and what was typed would be lost.
 * Fields and drop areas keep their own behaviour.
 */
export function keepPageOnDrop(): void {
  const refuse = (event: DragEvent): void => {
    const { dataTransfer, target } = event;
    const isForFiles = target instanceof HTMLInputElement && target.type === 'file';
    if (event.defaultPrevented || isForFiles || dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    dataTransfer.dropEffect = 'none';
  };
  addEventListener('dragover', refuse);
  addEventListener('drop', refuse);
}
