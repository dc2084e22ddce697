import History from 'quill/modules/history.js';
import type { LiveDocument } from '@rockpool/client';

type UndoManager = LiveDocument['undoManager'];

/**
 * Undo and redo of an editor whose text others write too: that of the document, which takes back what was typed here
 * and nothing of theirs.
 */
export class SharedHistory extends History {
  private get undoManager(): UndoManager {
    return (this.options as unknown as { readonly undoManager: UndoManager }).undoManager;
  }

  override undo(): void {
    this.undoManager.undo();
  }

  override redo(): void {
    this.undoManager.redo();
  }

  /** What comes next is a step of its own. */
  override cutoff(): void {
    this.undoManager.stopCapturing();
  }

  // The document keeps what was done.
  override record(): void {}

  override transform(): void {}
}
