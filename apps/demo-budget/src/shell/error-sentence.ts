import { RockpoolError } from '@rockpool/client';
import { PeopleError } from '../share/members.ts';

/**
 * What went wrong, for the person in front of it, and what they can do. Rockpool's own sentence stands in where there
 * is no better one.
 */
export function errorSentence(error: unknown): string {
  if (error instanceof PeopleError) return error.message;
  if (error instanceof DOMException)
    return 'This browser keeps nothing for this page: it is a private window, or somebody has set it so.';
  if (!(error instanceof RockpoolError))
    return 'Something went wrong that should not have. Nothing that was saved before is lost.';
  switch (error.code) {
    case 'storage-unsupported':
      return 'This browser cannot keep a database for this page. Chrome, Edge and other Chromium browsers can.';
    case 'storage-busy':
      return 'Another window or program is holding the budget’s storage. Close other windows of this page, then try again.';
    case 'storage-ephemeral':
      return 'This is a private window: it would forget the budget when it closes. Open this address in a normal window.';
    case 'storage-full':
      return 'There is no room left on this device, so this change was not saved. What was saved before is safe. Delete files or apps that you do not need, then try again.';
    case 'storage-corrupt':
      return 'The budget’s file on this device is damaged. It has been kept as it is; nothing was deleted.';
    case 'storage-lost':
      return 'The browser has closed the budget’s storage. Reload the page.';
    case 'tab-outdated':
      return 'Another tab runs a newer version of this app. Reload this one, or close that one.';
    case 'app-outdated':
      return 'A newer version of this app has changed the budget. This version can show it, but not change it. Reload the page to get the newer version.';
    case 'database-newer':
      return 'A newer version of this app has written the budget on this device. It was left as it is. Reload the page to get the newer version.';
    case 'changeset-too-large':
      return 'This is too much for a single change, so none of it was saved.';
    case 'undo-refused':
      if (error.fields['problem'] === 'document')
        return 'What is written in notes is taken back in the note itself, by Ctrl Z.';
      return 'That has been changed since, here or by somebody else, so it was left as it is.';
    case 'conflict-not-restorable':
      return 'What it belonged to is no longer there, so it cannot be put back.';
    case 'leader-unreachable':
    case 'transaction-lost':
      return 'The tab that saves did not answer. Nothing of this change was kept; please try again.';
    default:
      return error.message;
  }
}
