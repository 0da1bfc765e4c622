import { createEnvironment } from '../environment.ts';
import { checkedDefaultFixture } from '../fixture/checked-default-fixture.ts';
import { insertFixture } from './insert-fixture.ts';
import type { WorldsSnapshot } from './world.ts';
import { Worlds } from './worlds.ts';

/**
 * The rows of the default fixture. The build replaces this module by its result, so that the first mailbox does not
 * compute them.
 */
export const defaultRows: WorldsSnapshot = createDefaultRows();

function createDefaultRows(): WorldsSnapshot {
  const worlds = new Worlds(createEnvironment());
  insertFixture(worlds, checkedDefaultFixture);
  return worlds.snapshot();
}
