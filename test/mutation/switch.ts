/** Which mutant runs in a process, of those that `createMutantCopy` has put into a copy of the source. */
interface Switch {
  /** The number of the mutant that runs, or -1 for none. */
  on: number;
  /** Called with the number of each mutant whose place is reached. */
  reach(number: number): void;
}

// On the global object, because several copies of this module may be in one process: a bundle has one of its own.
const place: typeof globalThis & { mutationSwitch?: Switch } = globalThis;

/** Makes this mutant run in this process from now on, or none. */
export function switchOn(number: number | undefined): void {
  current().on = number ?? -1;
}

/** Sets what is told of each mutant whose place is reached. */
export function onReach(reach: (number: number) => void): void {
  current().reach = reach;
}

/** Whether this mutant runs: the copy asks where each of its mutants is. */
export function isOn(number: number): boolean {
  const each = current();
  each.reach(number);
  return each.on === number;
}

/** Without any call, the environment says which mutant runs. */
function current(): Switch {
  place.mutationSwitch ??= { on: Number(globalThis.process?.env.MUTANT ?? -1), reach: () => {} };
  return place.mutationSwitch;
}
