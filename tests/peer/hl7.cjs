// node-hl7-server: `node hl7.cjs MODULES PORT FOLDER`. Each message becomes FOLDER/MSH-10.hl7, and AA is the answer; AE where the patient is
// called Refused.
const fs = require('node:fs');
const net = require('node:net');
const [, , modules, port, folder] = process.argv;
const {Server} = require(require.resolve('node-hl7-server', {paths: [modules]}));

// It listens on every address, whatever it is told.
const {listen} = net.Server.prototype;
net.Server.prototype.listen = function (options, ...more) {
  return listen.call(this, {...options, host: '127.0.0.1'}, ...more);
};

const taking = new Server({bindAddress: '127.0.0.1'}).createInbound({port: Number(port)}, async (request, response) => {
  const message = request.getMessage();
  const isRefused = message.get('PID.5.1').toString() === 'Refused';
  if (!isRefused) {
    fs.writeFileSync(`${folder}/${message.get('MSH.10')}.hl7`, message.toString());
  }
  await response.sendResponse(isRefused ? 'AE' : 'AA');
});
taking.on('error', error => console.log(error.message));
