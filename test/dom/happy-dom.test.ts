// @vitest-environment happy-dom
import '../delivery/deliveries.test.ts';
import '../delivery/delivery-calls.test.ts';
import '../delivery/deliveries-signature.test.ts';
import '../operations/messages.test.ts';
