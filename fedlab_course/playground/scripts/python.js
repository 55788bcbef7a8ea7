// The runs of the page, up to the round that is shown, as lines for the library.

function asPython(state, rounds) {
  const plane = state.data !== "digits";
  const { law, keyword, control } = CATALOGUE.splits[state.split];
  const shape = control ? `, ${keyword}=${state[control]}` : "";
  const hidden = state.hidden
    ? `mlp(fed, hidden=[${state.hidden.replace("-", ", ")}]`
    : "softmax_regression(fed";
  const runs = sidesOf(state).map((side) => run(state, side));
  return [
    `# ${say("streams")}`,
    "import fedlab_core as fl",
    ...(plane ? ["from fedlab_course import playground"] : []),
    "",
    plane ? `data = playground.plane("${state.data}")` : 'data = fl.load_dataset("digits")',
    "y = data.train.y",
    `parts = fl.partition.${law}(y${shape}, num_clients=${state.clients}, seed=${state.seed})`,
    "fed = fl.FederatedDataset(data, parts)",
    `model = fl.models.${hidden}, seed=${state.seed})`,
    `shared = dict(rounds=${rounds}, clients_per_round=${state.cohort}, ` +
      `batch_size=${state.batch}, stragglers=${state.stragglers}, seed=${state.seed})`,
    "histories = {",
    ...runs.map(({ name, code }) => `    "${name}": ${code},`),
    "}",
    "fl.plots.convergence(histories)",
    "",
  ].join("\n");
}

function run(state, side) {
  const of = (name) => state[`${side}.${name}`];
  const penalty = of("penaltyStep") === "implicit" ? ', penalty_step="implicit"' : "";
  const output = of("output") === "softmax" ? ', output="softmax"' : "";
  const calls = {
    fedavg: "FedAvg()",
    fedprox: `FedProx(mu=${of("mu")})`,
    scaffold: `Scaffold(server_lr=${of("serverRate")})`,
    fednova: "FedNova()",
    fedavgm: `algorithms.FedAvgM(beta=${of("beta")}, server_lr=${of("serverRate")})`,
    fedsso: "FedSSO()",
    fedmas: `FedMas(strength=${of("lambda")}${penalty}${output})`,
  };
  const work = `local_epochs=${of("epochs")}, lr=${of("lr")}, **shared`;
  const code = `fl.simulate(fed, model, fl.${calls[of("method")]}, ${work})`;
  const title = titleOf(of("method"), of("lambda"));
  return { name: `${side.toUpperCase()}: ${title}`, code };
}
