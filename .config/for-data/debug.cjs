// In place of the package debug, which prints what @mswjs/data and express do: nobody debugs these by the emulator. It
// loads modules of Node, which a browser lacks, or reads `localStorage`, of which Node 25 warns.
module.exports = () => () => undefined;
module.exports.debug = module.exports;
