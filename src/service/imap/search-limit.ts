/**
 * How much one SEARCH may compare: the bytes of each text that it reads, multiplied by the number of different keys that
 * look for something in it. It has a file of its own, because only a server with IMAP loads the search.
 */
export const MAX_COMPARED = 256 * 1024 * 1024;
